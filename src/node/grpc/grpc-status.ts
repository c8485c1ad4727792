/** gRPC status codes that the faces name. */
export const GRPC = {
  ok: 0,
  unknown: 2,
  invalidArgument: 3,
  notFound: 5,
  unimplemented: 12,
  internal: 13,
} as const;
