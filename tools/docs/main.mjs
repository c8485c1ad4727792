// Builds the site, and serves it on loopback until the process ends: `npm run docs`. `-- --build` only builds, `-- --port 0`
// chooses a free port.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vitepress";
import { SITE, writePages } from "./pages.mjs";

const DEFAULT_PORT = "9994";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
  ".jpg": "image/jpeg",
};

const { values } = parseArgs({
  options: { build: { type: "boolean" }, port: { type: "string", default: DEFAULT_PORT } },
});

/** Path of the site's file for a URL's path. Undefined without one. A URL's path has no "..". */
function fileOf(pathname) {
  const path = join(SITE, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? path : undefined;
}

function serve(request, response) {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const found = fileOf(pathname);
  const file = found ?? join(SITE, "404.html");
  response.writeHead(found === undefined ? 404 : 200, {
    "content-type": TYPES[extname(file)] ?? "text/plain",
  });
  createReadStream(file).pipe(response);
}

writePages();
await build(import.meta.dirname);
if (!values.build) {
  const server = createServer(serve);
  server.on("error", (error) => {
    process.stderr.write(
      `cannot listen on port ${values.port}: ${error.message}; choose another with --port\n`,
    );
    process.exitCode = 1;
  });
  server.listen(Number(values.port), "127.0.0.1", () => {
    process.stdout.write(`The documentation: http://127.0.0.1:${server.address().port}/\n`);
  });
}
