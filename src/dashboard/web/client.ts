/** Asks the server. A refusal or a silence becomes one sentence for a person. Does not retry by itself: see `useApi.ts`. */

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    message: string,
    /** 0 where nobody answered. */
    readonly status: number,
  ) {
    super(message);
  }
}

const SILENT = 'The dashboard’s server does not answer. Is “toolwise ui” still running in its terminal?';

/** `path` is below `/api/`, for example `runs`. Throws `ApiError`, or the signal's reason. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`api/${path}`, { headers: { accept: 'application/json' }, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(SILENT, 0);
  }
  if (!response.ok) throw new ApiError(await refusal(response), response.status);
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('The server’s answer broke off or is no JSON. Try again.', response.status);
  }
}

async function refusal(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as { error?: unknown } | undefined;
  if (typeof body?.error === 'string' && body.error !== '') return body.error;
  return response.status === 404 ? 'There is no such thing here; it may have been deleted.' : `The server answered ${response.status}.`;
}

/** `runs/RUN/...` with the run's folder encoded. */
export const runPath = (run: string, rest = ''): string => `runs/${encodeURIComponent(run)}${rest === '' ? '' : `/${rest}`}`;

/** Address of a download. */
export const exportHref = (run: string, file: string, query = ''): string =>
  `api/${runPath(run, `export/${file}`)}${query === '' ? '' : `?${query}`}`;
