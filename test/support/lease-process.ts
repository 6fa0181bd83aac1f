// Takes a lease's lock, says so, and holds it until it is killed: node lease-process.ts FILE
import { LeaseLock } from "../../shared/adapters/sqlite/lease-lock.ts";

const lock = LeaseLock.tryAcquire(process.argv[2] ?? "");
console.log(lock ? "held" : "taken");
if (lock) setInterval(() => {}, 1000);
