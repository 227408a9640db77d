import { once } from 'node:events';
import { createServer } from 'node:http';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';
import { keepNotices } from '../timers.ts';

/** A provider whose list of models contains their context windows. */
async function startListing(windows: Record<string, number>) {
  const server = createServer((_request, response) => {
    const data = Object.entries(windows).map(([id, context_length]) => ({ id, object: 'model', context_length }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

test('shows differences on refresh, and changes only values that no person entered', async ({
  page,
  installation,
  person,
}) => {
  await keepNotices(page);
  const windows: Record<string, number> = { large: 64_000, mine: 64_000, old: 8_000 };
  const listing = await startListing(windows);
  const { caller } = person;
  const { provider } = await caller.must('POST', '/api/providers', { name: 'Box', baseUrl: listing.url, apiKey: 'sk' });
  for (const [id, contextWindow] of Object.entries(windows)) {
    await caller.must('POST', '/api/models', {
      providerId: provider.id,
      providerModelId: id,
      displayName: id,
      contextWindow,
      maxOutputTokens: 4_000,
      tier: 1,
      sources: { contextWindow: id === 'mine' ? 'person' : 'provider' },
    });
  }
  await page.goto(`${installation.url}/settings/providers`);
  const refresh = page.getByRole('button', { name: 'Refresh Box' });
  const dialog = page.getByRole('dialog', { name: 'Refresh models from Box' });
  await refresh.click();
  await expect(dialog.getByText('Everything is up to date.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(refresh).toBeFocused();

  const remove = page.getByRole('button', { name: 'Delete Box' });
  await remove.press('Enter');
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(remove).toBeFocused();

  Object.assign(windows, { large: 128_000, mine: 128_000 });
  delete windows.old;
  await refresh.click();
  await expect(dialog.getByText('The provider doesn’t list these anymore: old.')).toBeVisible();
  await expect(dialog.getByRole('listitem')).toHaveCount(1);
  await expect(dialog.getByRole('listitem')).toContainText('64,000 → 128,000');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await dialog.getByRole('button', { name: 'Apply 1 change' }).click();
  await expect(page.getByText('1 model updated.')).toBeVisible();
  const { providers } = await caller.must('GET', '/api/providers');
  const stored = providers[0].models.map((model: { displayName: string; contextWindow: number }) => [
    model.displayName,
    model.contextWindow,
  ]);
  expect(Object.fromEntries(stored)).toEqual({ large: 128_000, mine: 64_000, old: 8_000 });
  listing.close();
});
