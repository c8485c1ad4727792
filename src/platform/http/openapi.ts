import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import { jsonReply } from "./http-route.ts";
import {
  type ApiRoute,
  ERROR_SCHEMA,
  getJson,
  type RouteAbout,
  type RouteDefinition,
  serveRoute,
} from "./route-about.ts";

export const OPENAPI_ROUTE = getJson(
  "/openapi.json",
  "this server's routes as OpenAPI 3.1",
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

/** Adds `GET /openapi.json` to a server's routes. The OpenAPI document is created on the first request. */
export function withOpenApi(
  info: { readonly title: string; readonly version: string },
  routes: readonly ApiRoute[],
): readonly ApiRoute[] {
  let document: JsonObject | undefined;
  const own = serveRoute(OPENAPI_ROUTE, () =>
    jsonReply(200, (document ??= openApiDocument(info, [...routes, OPENAPI_ROUTE]))),
  );
  return [...routes, own];
}

function openApiDocument(info: JsonObject, routes: readonly RouteDefinition[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes)
    (paths[route.path.replaceAll(/:(\w+)/g, "{$1}")] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: "3.1.0",
    info,
    paths,
    components: {
      schemas: { Error: schemaOf(ERROR_SCHEMA) },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation({
  path,
  guarded,
  about: { summary, query = {}, body, replies },
}: RouteDefinition): JsonObject {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: { type: "string" },
  }));
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { "application/json": { schema: schemaOf(body) } } } }),
    ...(guarded === true ? { security: [{ token: [] }] } : {}),
    responses: { ...responses(replies), default: ERROR_RESPONSE },
  };
}

const ERROR_RESPONSE: JsonObject = {
  description: "the server rejected the request, or the request failed",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

function responses(replies: RouteAbout["replies"]): JsonObject {
  return Object.fromEntries(
    Object.entries(replies).map(([status, { description, mediaType, schema }]) => [
      status,
      {
        description: description === "" ? "success" : description,
        content: { [mediaType]: schema === undefined ? {} : { schema: schemaOf(schema) } },
      },
    ]),
  );
}

/** Returns the JSON schema of the data as it is sent, before parsing transforms it. */
function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return z.record(z.string(), z.json()).parse(rest);
}
