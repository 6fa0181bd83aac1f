/**
 * The results of all, once none of them is under way any more: whoever cleans up after a failure must not be overtaken by what goes on.
 *
 * @throws what the first of them in order has thrown
 */
export async function allEnded<const T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
