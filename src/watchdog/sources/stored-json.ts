import { z } from "zod";

/** An integer that is stored as a string of up to `digits` digits, because JSON has no integers of this size. */
export function storedInteger(digits: number) {
  return z.codec(z.string().regex(new RegExp(`^\\d{1,${digits}}$`)), z.bigint(), {
    decode: BigInt,
    encode: String,
  });
}

/** A map stored as a list, so that node and provider names are not used as object keys. */
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
