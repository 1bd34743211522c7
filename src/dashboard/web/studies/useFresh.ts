/** Loads again what is known of studies: when something happens in the runs, and every so often while the page is seen. */
import { useEffect } from 'preact/hooks';
import { useLive, useThrottled } from '../live.js';

/** Results come without an event of their own. */
const POLL_MS = 10_000;

export function useFresh(reload: () => void): void {
  const again = useThrottled(reload, 3000);
  useLive(() => !document.hidden && again());
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && again(), POLL_MS);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [again]);
}
