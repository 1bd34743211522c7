/**
 * A mistake of the user's that they can mend: what happened, where, what to do. The command line prints it without a stack trace and
 * exits with 2. Everything else that is thrown is a bug or a failure of the machine.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  constructor(
    message: string,
    /** What to do about it. */
    readonly hint?: string,
  ) {
    super(message);
  }
}
