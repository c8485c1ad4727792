import { z } from "zod";
import type { HttpRoute } from "./http-route.ts";

/** What a client must know of one response. */
interface ReplyAbout {
  readonly description: string;
  readonly mediaType: string;
  /** Of JSON. */
  readonly schema?: z.ZodType;
}

/** What a client must know of a route. */
export interface RouteAbout {
  /** What the response has, or what the request does: Markdown, without a full stop. */
  readonly summary: string;
  /** Parameters of the query by name: Markdown. */
  readonly query?: Readonly<Record<string, string>>;
  /** JSON in the body of the request. */
  readonly body?: z.ZodType;
  /** By status. The server's own errors are the same for all routes. */
  readonly replies: Readonly<Record<number, ReplyAbout>>;
}

/** A route without its handler: what `/openapi.json` and docs/http-api.md say of it. */
export interface RouteDefinition extends Omit<HttpRoute, "handle"> {
  readonly about: RouteAbout;
}

/** A route whose definition is in the server's `/openapi.json`. */
export interface ApiRoute extends HttpRoute, RouteDefinition {}

/** Gives a definition its handler. */
export function serveRoute(definition: RouteDefinition, handle: HttpRoute["handle"]): ApiRoute {
  return { ...definition, handle };
}

type MoreAbout = Pick<RouteAbout, "query"> & Partial<Pick<RouteAbout, "replies">>;

/** Defines an open route that responds with JSON. */
export function getJson(
  path: string,
  summary: string,
  schema: z.ZodType,
  { replies, ...more }: MoreAbout = {},
): RouteDefinition {
  return { method: "GET", path, about: { summary, ...more, replies: { 200: jsonOf(schema), ...replies } } };
}

/** Defines an open route that responds with text, or with another type. */
export function getText(
  path: string,
  summary: string,
  { replies, ...more }: MoreAbout = {},
  mediaType = "text/plain",
): RouteDefinition {
  return {
    method: "GET",
    path,
    about: { summary, ...more, replies: { 200: { description: "", mediaType }, ...replies } },
  };
}

/** Defines a route that changes something. It needs the token. */
export function postJson(
  path: string,
  summary: string,
  schema: z.ZodType,
  { replies, ...more }: MoreAbout & Pick<RouteAbout, "body"> = {},
): RouteDefinition {
  return {
    method: "POST",
    path,
    guarded: true,
    about: { summary, ...more, replies: { 200: jsonOf(schema), ...replies } },
  };
}

export function jsonOf(schema: z.ZodType, description = ""): ReplyAbout {
  return { description, mediaType: "application/json", schema };
}

export function textOf(description: string): ReplyAbout {
  return { description, mediaType: "text/plain" };
}

/** The JSON of every error: a code for programs, and a message for people. */
export const ERROR_SCHEMA = z.strictObject({ error: z.string(), message: z.string() });

export function errorOf(description: string): ReplyAbout {
  return jsonOf(ERROR_SCHEMA, description);
}

// Values of the daemons' JSON.

/** A whole number as text: ids, heights, amounts, gas. */
export const digits = z.string().regex(/^-?\d+$/);
/** ISO 8601, UTC. */
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
