/** A view whose code is fetched when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failed, Loading } from './components/bits.js';

export function lazy<Props extends object>(load: () => Promise<{ readonly default: ComponentType<Props> }>): ComponentType<Props> {
  let ready: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<{ View?: ComponentType<Props> | undefined; error?: Error }>({ View: ready });
    const [round, setRound] = useState(0);
    useEffect(() => {
      if (ready !== undefined) return;
      let wanted = true;
      load().then(
        (module) => {
          ready = module.default;
          if (wanted) setState({ View: ready });
        },
        () => wanted && setState({ error: new Error('This part of the page could not be fetched. Is “toolwise ui” still running?') }),
      );
      return () => {
        wanted = false;
      };
    }, [round]);
    const { View, error } = state;
    if (View !== undefined) return <View {...props} />;
    return error === undefined ? <Loading /> : <Failed error={error} retry={() => setRound(round + 1)} />;
  };
}
