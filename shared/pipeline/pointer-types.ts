import type { Key, KeyPart } from "./topology.ts";

/**
 * The JSON pointers (RFC 6901) that lead somewhere in a T: "" is the whole value, "/user/id" the `id` of its `user`, "/items/0" the first of its `items`; in a name
 * "~" is written "~0", and "/" is written "~1". Of `unknown`, as `json()` without a schema gives it, any text that begins with "/". Two levels are known one by one,
 * so that editors list them and recursive types come to an end; what follows below them is for `At` to say.
 */
export type Pointer<T> = "" | Below<T, []>;

/** What a pointer leads to in a T, as `T["user"]["id"]` says it; undefined where there is nothing. */
export type At<T, P extends string> = P extends `/${infer Token}/${infer Rest}`
  ? At<Field<T, Token>, `/${Rest}`>
  : P extends `/${infer Token}`
    ? Field<T, Token>
    : T;

/** The pointers into a T at which there is a V. Where the type says no more than that it may be any key, as after `.keyBy` of unknown values, each record is asked. */
export type PointerTo<T, V, P extends string = Pointer<T>> = P extends string
  ? [KeyPart] extends [At<T, P>]
    ? P
    : At<T, P> extends V
      ? P
      : never
  : never;

/** The key that a pointer, or a tuple of them, gives: whatever is no key is refused record by record. */
export type KeyAt<T, P extends string> = Known<At<T, P>, Key>;
export type KeysAt<T, P extends readonly string[]> = { readonly [Index in keyof P]: Known<At<T, P[Index]>, KeyPart> };

/** A row that `.select` makes. */
export type Selected<T, Fields extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Fields]: At<T, Fields[Name]>;
};

type Known<Found, Wanted> = unknown extends Found ? Wanted : Extract<Found, Wanted>;

type Levels = 2;
type Leaf = string | number | boolean | bigint | symbol | null | undefined | AnyFunction;
type AnyFunction = (...given: never[]) => unknown;

type Below<T, Level extends readonly unknown[]> = unknown extends T
  ? `/${string}`
  : T extends Leaf
    ? never
    : Level["length"] extends Levels
      ? `/${string}`
      : T extends readonly unknown[]
        ? InArray<T, Level>
        : InObject<T, Level>;

type InArray<T extends readonly unknown[], Level extends readonly unknown[]> = number extends T["length"]
  ? `/${number}${"" | Below<T[number], [...Level, 0]>}`
  : InObject<{ [Index in Exclude<keyof T, keyof []>]: T[Index] }, Level>;

type InObject<T, Level extends readonly unknown[]> = {
  [Name in keyof T & (string | number)]-?: T[Name] extends AnyFunction
    ? never
    : `/${Escape<`${Name}`>}${"" | Below<T[Name], [...Level, 0]>}`;
}[keyof T & (string | number)];

type Field<T, Token extends string> = unknown extends T
  ? T
  : T extends Leaf
    ? undefined
    : T extends readonly unknown[]
      ? InList<T, Token>
      : Named<T, Unescape<Token>>;

type InList<T extends readonly unknown[], Token extends string> = number extends T["length"]
  ? Token extends `${number}`
    ? T[number]
    : undefined
  : Token extends keyof T
    ? T[Token]
    : undefined;

type Named<T, Name extends string> = string extends Name
  ? unknown
  : Name extends keyof T
    ? T[Name]
    : Name extends `${infer Index extends number}`
      ? Index extends keyof T
        ? T[Index]
        : undefined
      : undefined;

type Replace<
  Text extends string,
  From extends string,
  To extends string,
> = Text extends `${infer Head}${From}${infer Tail}` ? `${Head}${To}${Replace<Tail, From, To>}` : Text;
type Escape<Name extends string> = Replace<Replace<Name, "~", "~0">, "/", "~1">;
type Unescape<Token extends string> = Replace<Replace<Token, "~1", "/">, "~0", "~">;
