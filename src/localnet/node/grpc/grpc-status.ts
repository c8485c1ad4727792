/** The gRPC status codes that the node itself returns. */
export const GRPC = {
  ok: 0,
  unknown: 2,
  invalidArgument: 3,
  notFound: 5,
  unimplemented: 12,
  internal: 13,
} as const;
