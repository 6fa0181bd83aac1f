import { EpochflowError, type ErrorPlace, InfrastructureError, LossError, UserCodeError } from "epochflow";
import { DatabaseError } from "pg";

/** What somebody was at, and for whom. */
export interface Doing {
  readonly sink: string;
  readonly table: string;
  readonly epoch?: number;
}

export const placeOf = ({ sink, epoch }: Doing): ErrorPlace => ({ sink, ...(epoch !== undefined && { epoch }) });

const giveUp = ({ sink, epoch }: Doing) =>
  `give the rows up with \`epochflow abandon --sink ${sink} --epoch ${epoch}\``;

/** Of SQLSTATE: 22 is a value that its type does not take, 23 a constraint. Whatever their messages say may be from a row, which no error may show. */
const aboutRows = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && /^2[23]/.test(error.code ?? "") && error.schema !== "epochflow";

/** A failure before the decision: rows that the table cannot take are the pipeline's matter. */
export function stagingFailure(error: unknown, doing: Doing): unknown {
  if (!aboutRows(error)) return failure(error, doing);
  return new UserCodeError(
    "postgres-row",
    `sink ${doing.sink}: the table ${doing.table} does not take a row: ${reasonOf(error)}`,
    {
      wayOut: "Map or filter rows before the sink, or change the table.",
      place: placeOf(doing),
    },
  );
}

/** A failure after it: the rows cannot be changed any more, but the table can. */
export function commitFailure(error: unknown, doing: Doing): unknown {
  if (!aboutRows(error)) return failure(error, doing);
  return new LossError(
    "postgres-table-refuses",
    `sink ${doing.sink}: the table ${doing.table} does not take the rows of epoch ${doing.epoch}: ${reasonOf(error)}`,
    { wayOut: `Mend the table, and \`epochflow resume\`; or ${giveUp(doing)}.`, place: placeOf(doing) },
  );
}

/** Everything else may be over when it is tried again. */
export function failure(error: unknown, doing: Doing): unknown {
  if (error instanceof EpochflowError) return error;
  const { code = "connection", message } = error as { code?: string; message: string };
  const details = { wayOut: wayOutOf(code), place: placeOf(doing), cause: error };
  return new InfrastructureError(`postgres-${code}`, `sink ${doing.sink}: PostgreSQL says: ${message}`, details);
}

function reasonOf({ code, column, constraint }: DatabaseError): string {
  const where = constraint
    ? `constraint ${constraint}`
    : column
      ? `column ${column}`
      : "a value that its type does not know";
  return `${where} (SQLSTATE ${code})`;
}

function wayOutOf(code: string): string {
  if (code.startsWith("28")) return "Check user and password of the connection, and pg_hba.conf.";
  if (code === "42501") return "GRANT what is missing: docs/writing-a-sink.md has the list.";
  if (code === "3D000") return "Create the database, or name another one.";
  return "It is tried again. If it does not pass, look at the server and its log.";
}

export function marker(code: string, problem: string, doing: Doing): LossError {
  return new LossError(code, `sink ${doing.sink}: ${problem}`, {
    wayOut: `Bring back ledger and database of the same time, and \`epochflow resume\`; or ${giveUp(doing)}, once you know what the table lacks.`,
    place: placeOf(doing),
  });
}
