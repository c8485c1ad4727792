import { expect, it } from "vitest";
import { SERVER_ROUTES } from "../../../src/cli/generate/http-api-tables.ts";

const routes = Object.values(SERVER_ROUTES).flat();

it("the routes that need the token are those of POST and DELETE, as docs/http-api.md says", () => {
  expect(routes.filter(({ method }) => method !== "GET").length).toBeGreaterThan(10);
  const others = routes.filter(({ method, guarded }) => (guarded === true) !== (method !== "GET"));
  expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});
