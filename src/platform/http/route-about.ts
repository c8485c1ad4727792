import { z } from "zod";
import type { HttpRoute } from "./http-route.ts";

interface ReplyAbout {
  readonly description: string;
  readonly mediaType: string;
  /** Schema of the reply's body; undefined unless the body is JSON. */
  readonly schema?: z.ZodType;
}

export interface RouteAbout {
  /** The reply's contents or the request's effect, in Markdown without a full stop. */
  readonly summary: string;
  /** Markdown descriptions of the query parameters, keyed by name. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** Replies by status, without error replies that the server itself sends for any route. */
  readonly replies: Readonly<Record<number, ReplyAbout>>;
}

/** A route without its handler, as described in `/openapi.json` and docs/http-api.md. */
export interface RouteDefinition extends Omit<HttpRoute, "handle"> {
  readonly about: RouteAbout;
}

/** A route that the server's `/openapi.json` describes. */
export interface ApiRoute extends HttpRoute, RouteDefinition {}

export function serveRoute(definition: RouteDefinition, handle: HttpRoute["handle"]): ApiRoute {
  return { ...definition, handle };
}

type MoreAbout = Pick<RouteAbout, "query"> & Partial<Pick<RouteAbout, "replies">>;

/** Defines a GET route that needs no token and replies with JSON. */
export function getJson(
  path: string,
  summary: string,
  schema: z.ZodType,
  { replies, ...more }: MoreAbout = {},
): RouteDefinition {
  return { method: "GET", path, about: { summary, ...more, replies: { 200: jsonOf(schema), ...replies } } };
}

/** Defines a GET route that needs no token and replies with text or another content type. */
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

/** Defines a POST route for an action, which requires the token. */
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

/** The JSON format of all errors: a code for programs and a message for people. */
export const ERROR_SCHEMA = z.strictObject({ error: z.string(), message: z.string() });

export function errorOf(description: string): ReplyAbout {
  return jsonOf(ERROR_SCHEMA, description);
}

/** Schema for a whole number as text, e.g. an id, a height, an amount or gas. */
export const digits = z.string().regex(/^-?\d+$/);
/** Schema for a time in ISO 8601, UTC. */
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
