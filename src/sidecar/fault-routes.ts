import { isRecord } from "../base/json.ts";
import { errorReply, type HttpReply, jsonReply } from "../ops/http-reply.ts";
import type { HttpRoute, RouteRequest } from "../ops/http-route.ts";
import { type FaultName, type FaultState, parseFaultName, UnknownFaultError } from "./faults.ts";

/** Switches faults on and off. */
export interface FaultControl {
  /** All faults, on or off. */
  readonly faults: () => readonly FaultState[];
  /** Resolves when the switch has taken effect. */
  readonly setFault: (name: FaultName, on: boolean) => Promise<void>;
}

/**
 * Creates the routes of the control API: `GET /faults` lists all faults. `POST /faults/:name` with `{"on": true|false}`
 * needs the token and responds when the switch has taken effect.
 */
export function createFaultRoutes(control: FaultControl): readonly HttpRoute[] {
  return [
    { method: "GET", path: "/faults", handle: () => jsonReply(200, { faults: control.faults() }) },
    {
      method: "POST",
      path: "/faults/:name",
      guarded: true,
      handle: (request) => switchFault(request, control),
    },
  ];
}

async function switchFault(request: RouteRequest, control: FaultControl): Promise<HttpReply> {
  const on = parseOn(request.body);
  if (on === undefined) return errorReply(400, "bad-body", 'the body must be {"on": true} or {"on": false}');
  try {
    await control.setFault(parseFaultName(request.params["name"] ?? ""), on);
  } catch (error) {
    if (error instanceof UnknownFaultError) return errorReply(404, error.facts.code, error.message);
    throw error;
  }
  return jsonReply(200, { faults: control.faults() });
}

function parseOn(body: Uint8Array): boolean | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isRecord(value) && typeof value["on"] === "boolean" ? value["on"] : undefined;
  } catch {
    return undefined;
  }
}
