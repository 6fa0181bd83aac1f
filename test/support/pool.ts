/** Maps in parallel, a few at a time: runs wait for the disk and for back-offs more than they work. */
export async function mapParallel<T, R>(
  items: readonly T[],
  parallel: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const work = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of work) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return results;
}
