import './mantine.css';
import './styles.css';
import { I18nProvider } from '@lingui/react';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Toasts } from './frame/toasts.tsx';
import { i18n, translate } from './i18n.ts';
import { activateStoredLocale } from './locale.ts';
import { readInlineConfig, readNonce } from './public-config.ts';
import { createQueryClient, publicConfigQuery } from './queries.ts';
import { createAppRouter } from './router.tsx';
import { reloadAfterUpdate } from './stale-page.ts';
import { createAppTheme, createVariables } from './theme.ts';
import { installTrustedTypes } from './trusted-types.ts';

installTrustedTypes();
reloadAfterUpdate();
const nonce = readNonce();
// The scroll lock under a dialog makes its own style element and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const queries = createQueryClient();
const inline = readInlineConfig();
if (inline) queries.setQueryData(publicConfigQuery.queryKey, inline);
const config = inline ?? (await queries.fetchQuery(publicConfigQuery));
const { branding } = config;

await activateStoredLocale();
document.title = branding.productName;
if (branding.faviconDataUrl) document.querySelector('link[rel="icon"]')?.setAttribute('href', branding.faviconDataUrl);

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no root element');
createRoot(root).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <MantineProvider
        theme={createAppTheme(branding, translate)}
        cssVariablesResolver={createVariables(branding)}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queries}>
          <RouterProvider router={createAppRouter(queries)} />
          <Toasts />
        </QueryClientProvider>
      </MantineProvider>
    </I18nProvider>
  </StrictMode>,
);
