import fc from "fast-check";

const space = fc.constantFrom("", "", "", " ", "\t\r\n ");
const character = fc.oneof(
  fc.constantFrom("a", "0", "ä", "€", "😀", "\x7f", "/", " ", "\ufeff", "\u2028"),
  fc.constantFrom(
    '\\"',
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\u0041",
    "\\u00E4",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\uDC00",
  ),
);
const text = fc.array(character, { maxLength: 6 }).map((parts) => `"${parts.join("")}"`);
const name = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom("a", "b", "0", "ä", "a/b", "", "__proto__", "other", "aa").map((one) => `"${one}"`),
  },
  { weight: 1, arbitrary: fc.constantFrom('"\\u0061"', '"a\\/b"', '"\\""') },
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(fc.constantFrom("", "-"), fc.bigInt({ min: 0n, max: 10n ** 22n }), fc.integer({ min: 0, max: 22 }))
    .map(([sign, digits, point]) => {
      const all = digits.toString().padStart(point + 1, "0");
      return sign + (point === 0 ? all : `${all.slice(0, -point)}.${all.slice(-point)}`);
    }),
  fc.constantFrom(
    "0",
    "-0",
    "-0.0",
    "1e5",
    "1E-400",
    "1e400",
    "9007199254740993",
    "0.1e+2",
    "1e-7",
    "123456789012345678901234567890",
  ),
);
const tree = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(text, number, fc.constantFrom("true", "false", "null")),
    fc
      .array(fc.tuple(space, tie("value"), space), { maxLength: 4 })
      .map((items) => `[${items.map((one) => one.join("")).join(",")}]`),
    fc
      .array(fc.tuple(space, name, space, fc.constant(":"), space, tie("value"), space), { maxLength: 5 })
      .map((members) => `{${members.map((one) => one.join("")).join(",")}}`),
    fc.constantFrom("[ ]", "{\n}"),
  ),
})).value;
/** Documents of JSON in all ways of writing them, as bytes. */
export const document = fc.tuple(space, tree, space).map((parts) => Buffer.from(parts.join("")));

const wrong = fc.oneof(fc.constantFrom(...Buffer.from('{}[],:"\\ 0.-eE+tfnu\n\0')), fc.integer({ min: 0, max: 255 }));
const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1), fc.array(wrong, { maxLength: 2 }));

/** Documents in which bytes are wrong, missing or too many; some are documents still. */
export const damagedDocument = fc
  .tuple(document, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([bytes, changes]) => {
    let damaged = [...bytes];
    for (const [at, count, added] of changes) damaged = damaged.toSpliced(at % (damaged.length + 1), count, ...added);
    return Buffer.from(damaged);
  });
