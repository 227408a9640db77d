import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { createMcpApi, mcpServersQuery } from '../mcp-api.ts';
import { ToolReview } from '../tools/tool-review.tsx';
import { AddOffer } from './add-offer.tsx';
import { type CountedMcpOffer, offeredQuery } from './offers-api.ts';

const api = createMcpApi(undefined);

/** Review of an offer's tools for everyone. An administrator who hasn't added the server adds it first. */
export function OfferReview({ offer, onClose }: { offer: CountedMcpOffer; onClose: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const { data } = useQuery(mcpServersQuery());
  const [added, setAdded] = useState<McpServer>();
  if (data === undefined) return null;
  const server = added ?? data.servers.find(({ offerId }) => offerId === offer.id);
  if (server) return <ToolReview server={server} api={api} userId={undefined} offer={offer} onClose={onClose} />;
  return (
    <FormDialog title={t('offers.addFirst', { name: offer.name })} onClose={onClose}>
      {({ onDirty, cancel }) => (
        <AddOffer
          api={api}
          offer={offer}
          onDirty={onDirty}
          beside={cancel}
          onAdded={(made) => {
            setAdded(made);
            for (const { queryKey } of [mcpServersQuery(), offeredQuery]) void queries.invalidateQueries({ queryKey });
          }}
        />
      )}
    </FormDialog>
  );
}
