// Runs a TypeScript module in a process of its own: node run-typescript.mjs <path> [arguments…]
import { createViteServer } from "vitest/node";

const server = await createViteServer({
  configFile: false,
  appType: "custom",
  logLevel: "error",
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
await server.ssrLoadModule(process.argv[2]);
