import './mantine.css';
import './styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { activateStoredLocale } from './locale.ts';
import { readInlineConfig, readNonce } from './public-config.ts';
import { createQueryClient, maintenanceQuery, publicConfigQuery, releaseQuery } from './queries.ts';
import { reloadAfterUpdate } from './stale-page.ts';
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
