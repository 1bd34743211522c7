/** Starts the page. */
import { render } from 'preact';
import './styles/base.css';
import './styles/components.css';
import './styles/views.css';
import { App } from './app.js';
import { startLive } from './live.js';
import { startShortcuts } from './shortcuts.js';
import { startTheme } from './theme.js';

startTheme();
startShortcuts();
startLive();
render(<App />, document.getElementById('app')!);
