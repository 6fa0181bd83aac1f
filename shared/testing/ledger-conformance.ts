import { suite } from "node:test";
import { attemptsSuite } from "./ledger/attempts.ts";
import { committingSuite } from "./ledger/committing.ts";
import { coordinationSuite } from "./ledger/coordination.ts";
import { decidingSuite } from "./ledger/deciding.ts";
import { checker, type MakeLedger } from "./ledger/harness.ts";
import { planningSuite } from "./ledger/planning.ts";
import { racesSuite } from "./ledger/races.ts";
import { type RandomLives, randomWalkSuite } from "./ledger/random-walk.ts";
import { retentionSuite } from "./ledger/retention.ts";

/**
 * What every `Ledger` must do (protocol §5, §6, §8), as tests of `node:test`: conditions, races of two connections, and a long random life of
 * which I1 to I5 are checked after every step.
 *
 * @param make an empty ledger; called once a test
 * @param lives how much of a random life there is: less for a ledger that answers slowly
 */
export function ledgerConformance(name: string, make: MakeLedger, lives: RandomLives = {}): void {
  const check = checker(make);
  suite(`Ledger: ${name}`, () => {
    planningSuite(check);
    attemptsSuite(check);
    decidingSuite(check);
    committingSuite(check);
    coordinationSuite(check);
    retentionSuite(check);
    racesSuite(check);
    randomWalkSuite(check, lives);
  });
}
