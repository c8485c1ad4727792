#!/usr/bin/env node
import { createProgram } from "./program.ts";
import { runProcess } from "../platform/cli/run-process.ts";

await runProcess("relaywatch", createProgram);
