import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { publicConfigQuery } from '../../api/queries.ts';
import { uploadWorkspaceFile } from '../../api/upload.ts';
import { UploadQueue } from '../../files/attachments/upload-queue.ts';
import { joinPath } from './paths.ts';

/** Uploads into a folder; they continue when the folder is left. */
export function useWorkspaceUploads(folder: string, refresh: () => Promise<void>) {
  const { data: config } = useQuery(publicConfigQuery);
  const maximumBytes = config?.limits.artifactMaxUploadBytes ?? Number.POSITIVE_INFINITY;
  const latest = useRef({ refresh, maximumBytes });
  latest.current = { refresh, maximumBytes };
  const [queue] = useState(
    () =>
      new UploadQueue<WorkspaceEntry>({
        upload: (file, options) => uploadWorkspaceFile(file, joinPath(folder, file.name), options),
        onDone: () => void latest.current.refresh(),
        refuse: (file) => (file.size > latest.current.maximumBytes ? 'too-large' : undefined),
      }),
  );
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => queue.isBusy && event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [queue]);
  return { queue, maximumBytes };
}
