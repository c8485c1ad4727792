import { isRecord } from "../base/json.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRequest,
  type HttpRoute,
  jsonReply,
} from "../ops/http-route.ts";
import { type FaultName, type FaultState, parseFaultName, UnknownFaultError } from "./faults.ts";

/** The switchboard that the routes work on. */
export interface FaultBoard {
  readonly faults: () => readonly FaultState[];
  readonly setFault: (name: FaultName, on: boolean) => Promise<void>;
}

/**
 * Routes for a control face: `GET /faults` lists them, `POST /faults/:name` with `{"on": true|false}` switches one
 * (guarded) and answers when it has taken effect.
 */
export function createFaultRoutes(board: FaultBoard): readonly HttpRoute[] {
  return [
    { method: "GET", path: "/faults", handle: () => jsonReply(200, { faults: board.faults() }) },
    {
      method: "POST",
      path: "/faults/:name",
      guarded: true,
      handle: (request) => switchFault(request, board),
    },
  ];
}

async function switchFault(request: HttpRequest, board: FaultBoard): Promise<HttpReply> {
  const on = parseSwitch(request.body);
  if (on === undefined) return errorReply(400, "bad-body", 'the body must be {"on": true} or {"on": false}');
  try {
    await board.setFault(parseFaultName(request.params["name"] ?? ""), on);
  } catch (error) {
    if (error instanceof UnknownFaultError) return errorReply(404, error.facts.code, error.message);
    throw error;
  }
  return jsonReply(200, { faults: board.faults() });
}

function parseSwitch(body: Uint8Array): boolean | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isRecord(value) && typeof value["on"] === "boolean" ? value["on"] : undefined;
  } catch {
    return undefined;
  }
}
