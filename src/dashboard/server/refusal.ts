/** A request that is refused, with what to say: becomes `{ error }` with its status. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 410 | 413 | 422 | 503,
    message: string,
  ) {
    super(message);
  }
}
