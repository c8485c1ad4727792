import { onAbort, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { EndpointState } from "./observation.ts";
import { type Endpoint, endpointNames, pathBelow, urlBelow } from "../../platform/http/remote.ts";
import { drain, type Page, type PageReader } from "./page-reader.ts";

export type FailoverReader = ReturnType<typeof createFailoverReader>;

/** A failed URL is tried last for this long, so that polls do not keep waiting for it. */
const FAILED_MS = 30_000;

/** Statuses returned by a server, or a proxy in front of it, that cannot respond now or that refuses this client. */
const UNAVAILABLE: ReadonlySet<number> = new Set([401, 402, 403, 407, 429, 502, 503, 504]);

interface Group {
  readonly urls: readonly URL[];
  readonly names: readonly string[];
  /** Monotonic time of the last failure of each URL, by index. */
  readonly failedMs: Map<number, number>;
  used: number;
}

/**
 * Creates a reader. `groups` lists the endpoints of each source in order of preference; requests are for the first endpoint or a
 * path below it. All URLs in a group lead to the same server: its counters belong to one process, whichever URL was read. If a
 * request gets no response within its part of the deadline, or a response showing that the server is unavailable, it is sent to
 * the next URL. The error is from the last URL.
 */
export function createFailoverReader(
  groups: readonly (readonly Endpoint[])[],
  deps: { readonly read: PageReader; readonly clock: Clock; readonly deadlineMs: number },
) {
  const { read, clock, deadlineMs } = deps;
  const known = groups
    .filter((endpoints) => endpoints.length > 1)
    .map(
      (endpoints): Group => ({
        urls: endpoints.map(({ url }) => new URL(url)),
        names: endpointNames(endpoints),
        failedMs: new Map(),
        used: 0,
      }),
    );
  const groupOf = (url: URL): Group | undefined =>
    known.find(({ urls }) => urls[0]?.href === url.href) ??
    known.find(({ urls: [first] }) => first !== undefined && pathBelow(first, url) !== undefined);
  const isUp = ({ failedMs }: Group, index: number): boolean => {
    const atMs = failedMs.get(index);
    return atMs === undefined || clock.monotonicMs() - atMs >= FAILED_MS;
  };
  const readGroup = async (
    group: Group,
    url: URL,
    signal: AbortSignal,
    sent: Parameters<PageReader>[2],
  ): Promise<Page> => {
    const indexes = [...group.urls.keys()].toSorted(
      (a, b) => Number(isUp(group, b)) - Number(isUp(group, a)) || a - b,
    );
    const partMs = deadlineMs / indexes.length;
    for (const [attempt, index] of indexes.entries()) {
      const isLast = attempt === indexes.length - 1;
      const target = urlOf(group, index, url);
      // A request's signal also aborts reading its body, so abort only failed attempts.
      const end = new AbortController();
      onAbort(signal, (reason) => end.abort(reason));
      try {
        const what = `a response from ${group.names[index]}`;
        const page = await withDeadline(what, partMs, signal, () => read(target.href, end.signal, sent));
        const isAvailable = !UNAVAILABLE.has(page.status);
        if (isAvailable) group.failedMs.delete(index);
        else group.failedMs.set(index, clock.monotonicMs());
        if (isAvailable || isLast) {
          group.used = index;
          return page;
        }
        await drain(page);
      } catch (error) {
        end.abort(error);
        if (signal.aborted) throw error;
        group.failedMs.set(index, clock.monotonicMs());
        if (isLast) throw error;
      }
    }
    throw new Error("a source has no URL");
  };
  const readAny: PageReader = (url, signal, sent) => {
    if (known.length === 0) return read(url, signal, sent);
    const parsed = new URL(url);
    const group = groupOf(parsed);
    return group === undefined ? read(url, signal, sent) : readGroup(group, parsed, signal, sent);
  };
  return {
    read: readAny,
    /** Returns the states of a source's URLs, in order; empty if the source has only one. */
    endpointsOf: (url: string): readonly EndpointState[] => {
      const group = known.length === 0 ? undefined : groupOf(new URL(url));
      if (group === undefined) return [];
      const { names, used } = group;
      return names.map((host, index) => ({ host, isUsed: used === index, isUp: isUp(group, index) }));
    },
  };
}

/** Returns the URL with this index. A path below the first URL is mapped to the same path below this one. */
function urlOf({ urls: [first, ...others] }: Group, index: number, requested: URL): URL {
  const url = others[index - 1];
  if (first === undefined || url === undefined) return requested;
  return urlBelow(url.href, pathBelow(first, requested) ?? "");
}
