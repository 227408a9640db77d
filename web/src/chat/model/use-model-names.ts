import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { catalogueQuery } from '../../api/queries.ts';

/** Ids of models here. Imported answers have their model's name instead. */
const ownModel = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** Lookup of model names by id; undefined for a deleted model. */
export function useModelNames(): (modelId: string) => string | undefined {
  const { data } = useQuery(catalogueQuery);
  const names = useMemo(
    () => new Map(data?.providers.flatMap((provider) => provider.models.map((model) => [model.id, model.displayName]))),
    [data],
  );
  return useCallback((modelId) => names.get(modelId) ?? (ownModel.test(modelId) ? undefined : modelId), [names]);
}
