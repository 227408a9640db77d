import type { Branding } from '@homeport/contracts/system';
import { I18nProvider } from '@lingui/react';
import { MantineProvider } from '@mantine/core';
import { type QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { publicConfigQuery } from './api/queries.ts';
import { i18n, translate } from './i18n/i18n.ts';
import { lazyComponent } from './layout/lazy-component.tsx';
import { Toasts } from './layout/toasts.tsx';
import { BlockPreviews } from './markdown/code/block-previews.ts';
import { createAppRouter } from './router/router.tsx';
import { createAppTheme, createVariables } from './theme/theme.ts';

const BlockPreview = lazyComponent(async () => (await import('./files/preview/block-preview.tsx')).BlockPreview);

/** The whole client. The first render shows `branding`; changes to it show at once. */
export function App({ queries, branding, nonce }: { queries: QueryClient; branding: Branding; nonce: string }) {
  const [router] = useState(() => createAppRouter(queries));
  return (
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queries}>
        <Branded first={branding} nonce={nonce}>
          <BlockPreviews value={BlockPreview}>
            <RouterProvider router={router} />
          </BlockPreviews>
          <Toasts />
        </Branded>
      </QueryClientProvider>
    </I18nProvider>
  );
}

function Branded({ first, nonce, children }: { first: Branding; nonce: string; children: ReactNode }) {
  const branding = useQuery(publicConfigQuery).data?.branding ?? first;
  const theme = useMemo(() => createAppTheme(branding, translate), [branding]);
  const variables = useMemo(() => createVariables(branding), [branding]);
  const { faviconDataUrl } = branding;
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', faviconDataUrl ?? '/favicon.svg');
  }, [faviconDataUrl]);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  );
}
