import './theme/mantine.css';
import './theme/styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { readInlineConfig, readNonce } from './api/public-config.ts';
import { createQueryClient, maintenanceQuery, publicConfigQuery, releaseQuery } from './api/queries.ts';
import { reloadAfterUpdate } from './api/stale-page.ts';
import { App } from './app.tsx';
import { activateStoredLocale } from './i18n/locale.ts';
import { installTrustedTypes } from './trusted-types.ts';

installTrustedTypes();
reloadAfterUpdate();
const nonce = readNonce();
// The scroll lock of dialogs creates its own style element and looks here for the nonce.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const queries = createQueryClient();
const inline = readInlineConfig();
if (inline) {
  const { maintenance, version, ...publicConfig } = inline;
  queries.setQueryData(publicConfigQuery.queryKey, publicConfig);
  queries.setQueryData(maintenanceQuery.queryKey, { maintenance });
  queries.setQueryData(releaseQuery.queryKey, { ok: true, version });
}
const config = inline ?? (await queries.fetchQuery(publicConfigQuery));
const { branding } = config;

await activateStoredLocale();
document.title = branding.productName;

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no root element');
createRoot(root).render(
  <StrictMode>
    <App queries={queries} branding={branding} nonce={nonce} />
  </StrictMode>,
);
