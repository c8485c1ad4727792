/** HTTP status for each gRPC code from 0, as grpc-gateway 1.16 maps them. */
const STATUS_BY_CODE = [
  200, 408, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
] as const;

/** HTTP status of a gRPC code; 500 for one that gRPC does not know. */
export function httpStatusOf(grpcCode: number): number {
  return STATUS_BY_CODE[grpcCode] ?? 500;
}
