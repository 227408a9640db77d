import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import cardClasses from '../../catalogue/catalogue-card.module.css';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { Card } from '../../layout/section.tsx';
import mcpClasses from '../mcp.module.css';
import type { McpApi } from '../mcp-api.ts';
import { AddOffer } from './add-offer.tsx';
import classes from './offers.module.css';
import { type OfferedMcpServer, offeredQuery, placeOf, trustLine } from './offers-api.ts';

type Props = {
  api: McpApi;
  servers: readonly McpServer[];
  canEdit: boolean;
  onAdded: (server: McpServer) => void;
};

/** Servers that administrators offer to everyone and the person hasn't added. Renders nothing if there are none. */
export function OfferedServers({ api, servers, canEdit, onAdded }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { data } = useQuery(offeredQuery);
  const [adding, setAdding] = useState<OfferedMcpServer>();
  const added = new Set(servers.map((server) => server.offerId));
  const offers = (data?.offers ?? []).filter((offer) => !added.has(offer.id));
  if (offers.length === 0) return null;
  return (
    <Card title={t('mcp.offered')} text={t(canEdit ? 'mcp.offeredText' : 'mcp.offeredReadOnly')}>
      <ul className={classes.offers}>
        {offers.map((offer) => (
          <li key={offer.id} className={classes.offer}>
            <div className={classes.offerAbout}>
              <p className={classes.offerName}>
                <bdi>{offer.name}</bdi>
              </p>
              {offer.description ? <p className={mcpClasses.hint}>{offer.description}</p> : null}
              <p className={cardClasses.address}>{placeOf(offer)}</p>
              {offer.trustedAt ? <p className={mcpClasses.hint}>{trustLine(offer, t)}</p> : null}
            </div>
            {canEdit ? (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<Plus size={14} aria-hidden />}
                onClick={() => setAdding(offer)}
              >
                {t('mcp.offeredAdd')}
                <span className="visually-hidden"> {offer.name}</span>
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {adding ? (
        <FormDialog title={t('mcp.offeredTitle', { name: adding.name })} onClose={() => setAdding(undefined)}>
          {({ onDirty, cancel }) => (
            <AddOffer
              api={api}
              offer={adding}
              onDirty={onDirty}
              beside={cancel}
              onAdded={(server) => {
                setAdding(undefined);
                void queries.invalidateQueries({ queryKey: offeredQuery.queryKey });
                onAdded(server);
              }}
            />
          )}
        </FormDialog>
      ) : null}
    </Card>
  );
}
