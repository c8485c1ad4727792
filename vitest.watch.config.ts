import { defineConfig } from "vitest/config";
import { WORKER_FLAGS } from "./test/support/v8-flags.ts";
import config from "./vitest.config.ts";

/** `npm run test:watch`: Vitest loads all modules itself, and so knows which tests a change concerns. */
export default defineConfig({ test: { ...config.test, execArgv: [...WORKER_FLAGS], server: {}, deps: {} } });
