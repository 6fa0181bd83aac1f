/** A thread that opens new ledgers, each at the same moment as its fellows. */
import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { openDatabase } from "../../shared/adapters/sqlite/database.ts";

const { folder, arrived, openers } = workerData as { folder: string; arrived: Int32Array; openers: number };

for (let round = 0; round < arrived.length; round++) {
  Atomics.add(arrived, round, 1);
  while (Atomics.load(arrived, round) < openers); // spins: who sleeps does not wake at the same moment
  openDatabase(join(folder, `${round}.db`)).close();
}
