import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export type Labels = Readonly<Record<string, string>>;

/** Samples for a Prometheus that receives them (`--web.enable-remote-write-receiver`). */
export interface SampleWriter {
  /** Adds a sample. The samples of a series are in the order of their times. `labels` without the metric's name. */
  readonly write: (metric: string, labels: Labels, value: number, atMs: number) => void;
  /** Sends what was added. */
  readonly flush: () => Promise<void>;
}

/** Samples of one request. */
const MAX_SAMPLES = 200_000;
/** Longest literal of Snappy with a length of two bytes. */
const LITERAL = 65_536;
const DEADLINE_MS = 30_000;

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/** Creates a writer to the Prometheus at this URL. */
export function createSampleWriter(url: string): SampleWriter {
  const series = new Map<string, { readonly labels: Labels; readonly samples: Sample[] }>();
  const send = async (body: Uint8Array<ArrayBuffer>): Promise<void> => {
    const response = await fetch(`${url}/api/v1/write`, {
      method: "POST",
      headers: {
        "content-type": "application/x-protobuf",
        "content-encoding": "snappy",
        "x-prometheus-remote-write-version": "0.1.0",
      },
      body,
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!response.ok) throw new Error(`Prometheus refuses samples: ${await response.text()}`);
  };
  return {
    write: (metric, labels, value, atMs) => {
      const key = JSON.stringify([metric, labels]);
      const one = series.get(key) ?? { labels: { __name__: metric, ...labels }, samples: [] };
      series.set(key, one);
      one.samples.push({ value, atMs });
    },
    flush: async () => {
      let writer = new BinaryWriter();
      let samples = 0;
      for (const one of series.values()) {
        writer.tag(1, WireType.LengthDelimited).fork();
        writeSeries(writer, one);
        writer.join();
        samples += one.samples.length;
        if (samples < MAX_SAMPLES) continue;
        await send(snappy(writer.finish()));
        writer = new BinaryWriter();
        samples = 0;
      }
      await send(snappy(writer.finish()));
      series.clear();
    },
  };
}

/** `TimeSeries` of Prometheus' remote.proto. Labels are sorted by name. */
function writeSeries(
  writer: BinaryWriter,
  { labels, samples }: { readonly labels: Labels; readonly samples: readonly Sample[] },
): void {
  for (const [name, value] of Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.LengthDelimited).string(value);
    writer.join();
  }
  for (const { value, atMs } of samples) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(value).tag(2, WireType.Varint).int64(atMs);
    writer.join();
  }
}

/** Snappy without compression: the length, and the bytes as literals. */
function snappy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [new BinaryWriter().uint32(bytes.length).finish()];
  for (let at = 0; at < bytes.length; at += LITERAL) {
    const literal = bytes.subarray(at, at + LITERAL);
    const last = literal.length - 1;
    parts.push(Uint8Array.of(61 << 2, last & 0xff, last >> 8), literal);
  }
  return new Uint8Array(Buffer.concat(parts));
}
