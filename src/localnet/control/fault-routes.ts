import { type FaultState, UnknownFaultError } from "../../platform/base/fault-switches.ts";
import { isRecord } from "../../platform/base/json.ts";
import { parseDurationMs } from "../../platform/config/config-fields.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRoute,
  jsonReply,
  type RouteRequest,
} from "../../platform/http/http-route.ts";
import { type FaultControl, FaultPartError } from "./fault-control.ts";

/**
 * Creates the routes of the control API: `GET /faults` lists all faults. `POST /faults/:name` with `{"on": true}`,
 * `{"on": true, "for": "2m"}` or `{"on": false}` needs the token and responds when the switch has taken effect.
 */
export function createFaultRoutes(control: FaultControl): readonly HttpRoute[] {
  return [
    { method: "GET", path: "/faults", handle: async () => listReply(control) },
    {
      method: "POST",
      path: "/faults/:name",
      guarded: true,
      handle: (request) => switchFault(request, control),
    },
  ];
}

async function listReply(control: FaultControl): Promise<HttpReply> {
  return jsonReply(200, { faults: (await control.list()).map(faultJson) });
}

function faultJson({ name, on, untilMs, effect }: FaultState) {
  return { name, on, until: untilMs === undefined ? null : new Date(untilMs).toISOString(), effect };
}

async function switchFault(request: RouteRequest, control: FaultControl): Promise<HttpReply> {
  const wanted = parseBody(request.body);
  if (wanted === undefined) {
    return errorReply(
      400,
      "bad-body",
      'the body must be {"on": true}, {"on": true, "for": "2m"} or {"on": false}',
    );
  }
  try {
    await control.set(request.params["name"] ?? "", wanted.on, wanted.forMs);
    return await listReply(control);
  } catch (error) {
    if (error instanceof UnknownFaultError) return errorReply(404, error.facts.code, error.message);
    if (error instanceof FaultPartError) return errorReply(502, error.facts.code, error.message);
    throw error;
  }
}

interface Wanted {
  readonly on: boolean;
  readonly forMs: number | undefined;
}

function parseBody(body: Uint8Array): Wanted | undefined {
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
