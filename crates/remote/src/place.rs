//! A place for objects, by its URL.

use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, ObjectStore, ObjectStoreExt, ObjectStoreScheme, RetryConfig,
};
use url::{Position, Url};

use crate::{Answer, Request};

/// A server that says nothing for so long is given up: the boot could be made meanwhile.
const SILENT: Duration = Duration::from_secs(5);
/// For a request and all its bytes.
const TIMEOUT: Duration = Duration::from_secs(60);
const RETRIES: usize = 2;

pub(crate) struct Place {
    store: Box<dyn ObjectStore>,
    prefix: Path,
}

impl Place {
    pub(crate) fn open(url: &str) -> Result<Self, String> {
        // Its library picks none by itself; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = Url::parse(url).map_err(|e| format!("{url} is no URL: {e}"))?;
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|e| e.to_string())?;
        let client = ClientOptions::new()
            .with_connect_timeout(SILENT)
            .with_read_timeout(SILENT)
            .with_timeout(TIMEOUT)
            // Who names a server without TLS wants that one.
            .with_allow_http(true);
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: SILENT,
            ..RetryConfig::default()
        };
        let store: Result<Box<dyn ObjectStore>, Error> = match scheme {
            ObjectStoreScheme::AmazonS3 => AmazonS3Builder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            ObjectStoreScheme::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            ObjectStoreScheme::MicrosoftAzure => MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            ObjectStoreScheme::Http => HttpBuilder::new()
                .with_url(&url[..Position::BeforePath])
                .with_client_options(client)
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            _ => {
                return Err(format!(
                    "{url}: give s3://, gs://, az://, http:// or https://"
                ));
            }
        };
        let store = store.map_err(|e| e.to_string())?;
        Ok(Self { store, prefix })
    }

    pub(crate) async fn answer(&self, request: Request) -> Answer {
        let done = match request {
            Request::Get(name) => self.get(&self.path(&name)?).await.map(Some),
            Request::Has(name) => {
                let known = self.store.head(&self.path(&name)?).await;
                known.map(|_| Some(Vec::new()))
            }
            Request::Put(name, bytes) => {
                let put = self.store.put(&self.path(&name)?, bytes.into()).await;
                put.map(|_| Some(Vec::new()))
            }
            Request::Remove(name) => {
                let removed = self.store.delete(&self.path(&name)?).await;
                removed.map(|()| Some(Vec::new()))
            }
        };
        match done {
            Err(Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(why(&e)),
            Ok(found) => Ok(found),
        }
    }

    async fn get(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let found = self.store.get(path).await?;
        Ok(found.bytes().await?.into())
    }

    fn path(&self, name: &str) -> Result<Path, String> {
        let name = Path::parse(name).map_err(|e| e.to_string())?;
        Ok(self.prefix.parts().chain(name.parts()).collect())
    }
}

/// What is wrong, and what to do. What a server says in XML is for its makers.
fn why(e: &Error) -> String {
    let said = e.to_string();
    let said = said.split(": <").next().unwrap_or_default();
    match e {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => format!(
            "access is denied: are the keys in the environment right (AWS_ACCESS_KEY_ID, \
             GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_KEY)? {said}"
        ),
        _ => said.to_owned(),
    }
}
