/**
 * Runs `work` for every item, with at most `limit` calls at a time. Returns the results in the order of the items.
 * Rejects with the first error. Calls that run at that moment continue; no further call starts.
 */
export async function mapLimit<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const rest = items.entries();
  let failed = false;
  const run = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (failed) return;
      results[index] = await work(item);
    }
  };
  const runners = Array.from({ length: Math.min(limit, items.length) }, async () => {
    try {
      await run();
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  await Promise.all(runners);
  return results;
}
