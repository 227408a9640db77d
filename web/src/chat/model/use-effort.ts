import { useState } from 'react';
import { type Effort, effortOf, effortsName, withEffort } from '../../conversation/choices/effort.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { useDraft } from '../../conversation/use-draft.ts';

/** The person's choice of the effort of the conversation `key`. `asked` counts the requests to show all efforts. */
export function useEffort(key: string) {
  const { drafts } = useClientSession();
  const stored = useDraft(effortsName).text;
  const [asked, setAsked] = useState(0);
  return {
    chosen: effortOf(stored, key),
    // Another tab may have chosen for another conversation meanwhile.
    choose: (effort: Effort | undefined) =>
      drafts.replace(effortsName, withEffort(drafts.read(effortsName), key, effort)),
    asked,
    ask: () => setAsked((count) => count + 1),
  };
}

export type EffortState = ReturnType<typeof useEffort>;
