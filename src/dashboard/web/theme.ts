/** Light, dark, or as the system has it; kept in this browser. */
import { createStore, useStore } from './store.js';

export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'toolwise.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const choice = createStore<ThemeChoice>(stored());
/** What is shown; charts are drawn anew when it changes. */
const shown = createStore<'light' | 'dark'>('light');

export const useThemeChoice = (): ThemeChoice => useStore(choice);
export const useTheme = (): 'light' | 'dark' => useStore(shown);

export function chooseTheme(next: ThemeChoice): void {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // a browser that keeps nothing still shows what was chosen
  }
  choice.set(next);
  apply();
}

export function nextTheme(): void {
  const order: readonly ThemeChoice[] = ['system', 'light', 'dark'];
  chooseTheme(order[(order.indexOf(choice.get()) + 1) % order.length]!);
}

/** Call once, before the first view is drawn. */
export function startTheme(): void {
  dark.addEventListener('change', apply);
  apply();
}

function apply(): void {
  const theme = choice.get() === 'system' ? (dark.matches ? 'dark' : 'light') : (choice.get() as 'light' | 'dark');
  document.documentElement.dataset.theme = theme;
  shown.set(theme);
}

function stored(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}
