import { defineConfig } from "vitest/config";
import config, { V8_FLAGS } from "./vitest.config.ts";

/** `npm run test:watch`: Vitest loads all modules itself, and so knows which tests a change concerns. */
export default defineConfig({ test: { ...config.test, execArgv: V8_FLAGS, server: {}, deps: {} } });
