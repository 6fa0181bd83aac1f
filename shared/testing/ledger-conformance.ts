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

export interface LedgerEffort extends RandomLives {
  /** How often each race of two connections is run; 8 by default. */
  readonly raceRounds?: number;
}

/**
 * What every `Ledger` must do (protocol §5, §6, §8), as tests of `node:test`: conditions, races of two connections, and a long random life of
 * which I1 to I5 are checked after every step.
 *
 * @param make an empty ledger; called once a test
 * @param effort how much of what chance decides is tried: less for a ledger that answers slowly
 */
export function ledgerConformance(name: string, make: MakeLedger, effort: LedgerEffort = {}): void {
  const check = checker(make);
  suite(`Ledger: ${name}`, () => {
    planningSuite(check);
    attemptsSuite(check);
    decidingSuite(check);
    committingSuite(check);
    coordinationSuite(check);
    retentionSuite(check);
    racesSuite(check, effort.raceRounds ?? 8);
    randomWalkSuite(check, effort);
  });
}
