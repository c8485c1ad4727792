import { z } from "zod";

/** Codec for a bigint stored as a string of up to `digits` digits, because JSON numbers are not exact at this size. */
export function storedInteger(digits: number) {
  return z.codec(z.string().regex(new RegExp(`^\\d{1,${digits}}$`)), z.bigint(), {
    decode: BigInt,
    encode: String,
  });
}

/** Codec for a map stored as a list, so that names from other hosts never become object keys. */
export function storedMap<T>(value: z.ZodType<T>) {
  return z.codec(z.array(z.object({ name: z.string(), value })), z.custom<ReadonlyMap<string, T>>(), {
    decode: (list) => new Map(list.map((one) => [one.name, one.value])),
    encode: (map) => [...map].map(([name, one]) => ({ name, value: one })),
  });
}

export function storedPairs<K, V>(key: z.ZodType<K>, value: z.ZodType<V>) {
  return z.codec(z.array(z.tuple([key, value])), z.custom<ReadonlyMap<K, V>>(), {
    decode: (list) => new Map(list),
    encode: (map) => [...map],
  });
}
