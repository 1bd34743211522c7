/** A request that the engine refused (`user`) or failed to serve (`server`, `connection`). Never a score. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly category: 'user' | 'server' | 'connection',
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}
