import { request } from "undici";
import { z } from "zod";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import {
  type FaultState,
  type FaultSwitches,
  unknownFault,
  UnknownFaultError,
} from "../../platform/base/fault-switches.ts";
import { isRecord } from "../../platform/base/json.ts";
import { readTextBody } from "../../platform/base/read-text.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { isoTimeOrNull, NS_PER_MS, parseRfc3339Ns } from "../../platform/base/time.ts";
import { parseDurationMs } from "../../platform/config/setting-texts.ts";
import { errorReply, type HttpReply, jsonReply, type RouteRequest } from "../../platform/http/http-route.ts";
import * as about from "../../platform/http/route-about.ts";
import { SIDECAR_FAULT_NAMES, SIDECAR_FAULTS } from "../sidecar/faults.ts";
import type { Sidecar } from "../sidecar/sidecar.ts";

/** Deadline for a request to another process that runs a part of the localnet, such as the sidecar. */
const REMOTE_DEADLINE_MS = 5_000;

const MAX_REPLY_BYTES = 1_048_576;

/** Lists faults that can be injected into a localnet's parts, and switches them on and off. */
export interface FaultControl {
  readonly names: readonly string[];
  /** Lists all faults and whether each is on. Rejects with {@link FaultPartError} if the part does not respond. */
  readonly list: () => Promise<readonly FaultState[]>;
  /**
   * Switches a fault on or off. If `forMs` is defined, the fault switches off again after this time. Resolves once the fault is
   * on or off.
   */
  readonly set: (name: string, on: boolean, forMs: number | undefined) => Promise<void>;
}

/** Thrown if the process of a localnet's part does not respond or rejects the request. */
class FaultPartError extends CodedError<{ readonly code: "part-unreachable" }> {}

export function localFaultControl<Name extends string>(
  effects: Readonly<Record<Name, string>>,
  {
    list,
    set,
  }: Pick<FaultSwitches<Name>, "list"> & {
    readonly set: (name: Name, on: boolean, forMs?: number) => void | Promise<void>;
  },
): FaultControl {
  const isName = (name: string): name is Name => Object.hasOwn(effects, name);
  const names = Object.keys(effects);
  return {
    names,
    list: async () => list(),
    set: async (name, on, forMs) => {
      if (!isName(name)) throw unknownFault(name, names);
      await set(name, on, forMs);
    },
  };
}

/** Creates the fault control of a sidecar in this process. */
export function sidecarFaultControl({ faults, setFault }: Sidecar): FaultControl {
  return localFaultControl(SIDECAR_FAULTS, { list: faults, set: setFault });
}

/** Combines the fault controls of several parts of a localnet. `list` omits the faults of parts that do not respond. */
export function joinFaultControls(parts: readonly FaultControl[]): FaultControl {
  const names = parts.flatMap((part) => part.names);
  return {
    names,
    list: async () => (await Promise.all(parts.map((part) => part.list().catch(ignoreUnreachable)))).flat(),
    set: async (name, on, forMs) => {
      const part = parts.find((one) => one.names.includes(name));
      if (part === undefined) throw unknownFault(name, names);
      await part.set(name, on, forMs);
    },
  };
}

function ignoreUnreachable(error: unknown): readonly FaultState[] {
  if (error instanceof FaultPartError) return [];
  throw error;
}

/** Creates the fault control of a sidecar in another process on this machine. Requests are sent to the control API of that process. */
export function remoteSidecarFaultControl(url: string, token: Secret): FaultControl {
  const call = async (path: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token.reveal()}` };
    try {
      const response = await request(`${url}${path}`, {
        headers,
        method: body === undefined ? "GET" : "POST",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REMOTE_DEADLINE_MS),
      });
      const reply: unknown = JSON.parse(await readTextBody(response.body, MAX_REPLY_BYTES));
      if (response.statusCode === 200) return reply;
      const reason = isRecord(reply) ? String(reply["message"]) : `status ${response.statusCode}`;
      throw new Error(reason);
    } catch (cause) {
      throw new FaultPartError(
        { code: "part-unreachable" },
        `the sidecar's process does not switch faults (${errorText(cause)}); start it with relaywatch localnet start sidecar`,
        { cause },
      );
    }
  };
  return {
    names: SIDECAR_FAULT_NAMES,
    list: async () => parseFaults(await call("/faults")),
    set: async (name, on, forMs) => {
      if (!SIDECAR_FAULT_NAMES.some((known) => known === name)) throw unknownFault(name, SIDECAR_FAULT_NAMES);
      await call(`/faults/${name}`, { on, ...(forMs === undefined ? {} : { for: `${forMs}ms` }) });
    },
  };
}

function parseFaults(reply: unknown): readonly FaultState[] {
  const listed: unknown[] = isRecord(reply) && Array.isArray(reply["faults"]) ? reply["faults"] : [];
  return SIDECAR_FAULT_NAMES.map((name) => {
    const state = listed.find((one) => isRecord(one) && one["name"] === name);
    const fields = isRecord(state) ? state : {};
    const until = typeof fields["until"] === "string" ? fields["until"] : undefined;
    return {
      name,
      on: fields["on"] === true,
      untilMs: until === undefined ? undefined : Number(parseRfc3339Ns(until) / NS_PER_MS),
      effect: SIDECAR_FAULTS[name],
    };
  });
}

const faultList = z.strictObject({
  faults: z.array(
    z.strictObject({ name: z.string(), on: z.boolean(), until: about.time.nullable(), effect: z.string() }),
  ),
});

export const FAULT_API = {
  list: about.getJson(
    "/faults",
    "all faults with their effects. `until` is null if a fault has no end time",
    faultList,
  ),
  switch: about.postJson(
    "/faults/:name",
    'switches a fault on or off: `{"on": true}`, `{"on": true, "for": "2m"}` or `{"on": false}`',
    faultList,
    {
      body: z.object({ on: z.boolean(), for: z.string().optional() }),
      replies: {
        400: about.errorOf("invalid body"),
        404: about.errorOf("no such fault"),
        502: about.errorOf("the sidecar's process does not respond"),
      },
    },
  ),
};

export function createFaultRoutes(control: FaultControl): readonly about.ApiRoute[] {
  return [
    about.serveRoute(FAULT_API.list, async () => listReply(control)),
    about.serveRoute(FAULT_API.switch, (call) => switchFault(call, control)),
  ];
}

async function listReply(control: FaultControl): Promise<HttpReply> {
  const faults = (await control.list()).map(({ name, on, untilMs, effect }) => ({
    name,
    on,
    until: isoTimeOrNull(untilMs),
    effect,
  }));
  return jsonReply(200, { faults });
}

async function switchFault({ body, params }: RouteRequest, control: FaultControl): Promise<HttpReply> {
  const wanted = parseBody(body);
  if (wanted === undefined) {
    return errorReply(
      400,
      "bad-body",
      'the body must be {"on": true}, {"on": true, "for": "2m"} or {"on": false}',
    );
  }
  try {
    await control.set(params["name"] ?? "", wanted.on, wanted.forMs);
    return await listReply(control);
  } catch (error) {
    if (error instanceof UnknownFaultError) return errorReply(404, error.facts.code, error.message);
    if (error instanceof FaultPartError) return errorReply(502, error.facts.code, error.message);
    throw error;
  }
}

function parseBody(body: Uint8Array) {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isRecord(value) || typeof value["on"] !== "boolean") return undefined;
    const { on, for: duration } = value;
    if (duration === undefined) return { on, forMs: undefined };
    const forMs = on && typeof duration === "string" ? parseDurationMs(duration) : undefined;
    return forMs === undefined || forMs === 0 ? undefined : { on, forMs };
  } catch {
    return undefined;
  }
}
