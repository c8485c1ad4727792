import { GO_ZERO_TIME_NS, NS_PER_SECOND, splitNs } from "../../platform/base/time.ts";
import { malformed } from "./comet-error.ts";

/** An unchecked `google.protobuf.Timestamp`, whose parts may be negative. */
interface WireTimestamp {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** End of protobuf's time range: the start of the year 10000. The range starts at Go's zero time (year 1). */
const END_OF_TIME_NS = 253_402_300_800n * NS_PER_SECOND;

/**
 * Converts a `google.protobuf.Timestamp` to nanoseconds since the Unix epoch. If the timestamp is missing, as
 * in the signatures of absent validators, returns Go's zero time. Throws `CometError` outside the years 1 to
 * 9999.
 */
export function timestampToNs(timestamp: WireTimestamp | undefined): bigint {
  if (timestamp === undefined) return GO_ZERO_TIME_NS;
  const timeNs = timestamp.seconds * NS_PER_SECOND + BigInt(timestamp.nanos);
  const isValid = timestamp.nanos >= 0 && timestamp.nanos < 1_000_000_000;
  if (!isValid || timeNs < GO_ZERO_TIME_NS || timeNs >= END_OF_TIME_NS) {
    throw malformed(
      "timestamp",
      `timestamp: seconds:${timestamp.seconds} nanos:${timestamp.nanos} out of range`,
    );
  }
  return timeNs;
}

/**
 * Converts nanoseconds since the Unix epoch to a `google.protobuf.Timestamp`. For a time before 1970, only `seconds` is negative.
 */
export function nsToTimestamp(timeNs: bigint): { seconds: bigint; nanos: number } {
  return splitNs(timeNs);
}
