import { resealProviders } from '../catalogue/reseal-providers.ts';
import { resealMcpServers } from '../mcp/rotation.ts';
import type { Platform } from '../platform.ts';
import { resealSettings } from '../settings/settings.ts';

/** Binds the credentials of an earlier release to the owner and origin that they have now. */
export async function bindCredentials(deps: Pick<Platform, 'db' | 'secrets' | 'log'>): Promise<void> {
  const options = { signal: new AbortController().signal, onUnreadable: () => undefined, unboundOnly: true };
  const providers = await resealProviders(deps, options);
  const servers = await resealMcpServers(deps, options);
  const client = await resealSettings(deps, { unboundOnly: true });
  const bound = providers.resealed + servers.resealed + (client === 'resealed' ? 1 : 0);
  if (bound > 0)
    deps.log.info({ bound }, 're-encrypted stored credentials so that each works only for its own address');
}
