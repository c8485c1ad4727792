#!/usr/bin/env node
import { runProcess } from "../platform/cli/run-process.ts";
import { createProgram } from "./program.ts";

await runProcess("relaywatch", createProgram);
