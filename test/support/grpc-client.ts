import { Buffer } from "node:buffer";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../src/cosmos/proto/gen/grpc/reflection/v1/reflection.ts";

/** A successful response with its header metadata. */
interface GrpcResponse {
  readonly value: Uint8Array;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A gRPC client that sends and receives bytes. */
export interface GrpcTestClient {
  /** Rejects with the `ServiceError`, whose `metadata` are the trailers. */
  readonly call: (path: string, data: Uint8Array, height?: string) => Promise<GrpcResponse>;
  /** Sends these requests on one reflection stream and collects the responses. */
  readonly reflect: (
    version: "v1" | "v1alpha",
    requests: readonly ServerReflectionRequest["messageRequest"][],
  ) => Promise<readonly ServerReflectionResponse["messageResponse"][]>;
  /** Opens a reflection stream with one request. `ended` resolves with the status code of its end. */
  readonly openReflection: () => { readonly answered: Promise<void>; readonly ended: Promise<number> };
  readonly close: () => void;
}

const pass = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

/** Creates a client of a server. Every call has a deadline of ten seconds. */
export function createGrpcTestClient(address: string): GrpcTestClient {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": 64 * 1024 * 1024,
    // Each client has a connection of its own.
    "grpc.use_local_subchannel_pool": 1,
  });
  const openStream = (version: "v1" | "v1alpha") =>
    client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      (request: ServerReflectionRequest) => pass(ServerReflectionRequest.encode(request).finish()),
      (bytes) => ServerReflectionResponse.decode(bytes),
      new Metadata(),
      deadline(),
    );
  const deadline = (): { deadline: number } => ({ deadline: Date.now() + 10_000 });
  return {
    call: (path, data, height) =>
      new Promise((resolve, reject) => {
        const metadata = new Metadata();
        if (height !== undefined) metadata.set("x-cosmos-block-height", height);
        let received: Readonly<Record<string, unknown>> = {};
        const call = client.makeUnaryRequest(
          path,
          pass,
          (bytes): Uint8Array => bytes,
          data,
          metadata,
          deadline(),
          (error: ServiceError | null, value?: Uint8Array) => {
            if (error !== null) reject(error);
            else resolve({ value: value ?? new Uint8Array(), metadata: received });
          },
        );
        call.on("metadata", (each: Metadata) => {
          received = each.getMap();
        });
      }),
    reflect: (version, requests) =>
      new Promise((resolve, reject) => {
        const responses: ServerReflectionResponse["messageResponse"][] = [];
        const stream = openStream(version);
        stream.on("data", (response: ServerReflectionResponse) => responses.push(response.messageResponse));
        stream.on("error", reject);
        stream.on("end", () => resolve(responses));
        for (const messageRequest of requests) stream.write({ host: "", messageRequest });
        stream.end();
      }),
    openReflection: () => {
      const stream = openStream("v1");
      const answered = new Promise<void>((resolve) => stream.once("data", () => resolve()));
      const ended = new Promise<number>((resolve) => {
        stream.on("error", (error: ServiceError) => resolve(error.code));
      });
      stream.write({ host: "", messageRequest: { $case: "listServices", value: "" } });
      return { answered, ended };
    },
    close: () => client.close(),
  };
}
