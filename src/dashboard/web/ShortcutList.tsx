/** The keys that work here, from those who handle them. */
import { Dialog } from './components/Dialog.js';
import { shortcutGroups } from './shortcuts.js';
import { useStore } from './store.js';

const KEY_NAMES: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
};

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const groups = useStore(shortcutGroups).filter(({ shortcuts }) => shortcuts.length > 0);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="keys">
        {groups.map(({ title, shortcuts }, i) => (
          <section key={i}>
            <h3>{title}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>
                    {keys.split(' ').map((key, j) => (
                      <kbd key={j}>{KEY_NAMES[key] ?? key}</kbd>
                    ))}
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
