#!/usr/bin/env node
import { createProgram } from "./program.ts";
import { runProcess } from "./run-process.ts";

await runProcess("relaywatch", createProgram);
