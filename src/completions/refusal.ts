/** Why a request is not answered, as a value and as the protocol's error body. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  /** The field at fault, for example `messages[2].content`. */
  readonly param?: string;
}

/** The client's mistake: status 400. */
export const invalid = (message: string, param?: string, code?: string): Refusal => ({
  status: 400,
  type: 'invalid_request_error',
  message,
  ...(param !== undefined && { param }),
  ...(code !== undefined && { code }),
});

/** The body that the protocol's clients read. */
export const refusalBody = ({ type, message, code = null, param = null }: RefusalFields): object => ({
  error: { message, type, param, code },
});

type RefusalFields = Omit<Refusal, 'code' | 'param'> & { readonly code?: string | null; readonly param?: string | null };
