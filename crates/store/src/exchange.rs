//! How jobs, and what they are made of, come to other machines, and how results come
//! back.
//!
//! ```text
//! blobs/AB/SHA256        a part of what is booted
//! jobs/ID/job.json       a boot to be made
//! jobs/ID/begun          it is being made; by whom
//! jobs/ID/result         what came of it
//! jobs/ID/refused        or why nothing did
//! ```

use std::fs;
use std::path::Path;

use crate::error::StoreError;
use crate::names::{BLOBS, JOBS};
use crate::objects::Objects;

/// The files of a job.
const FILES: [&str; 4] = [
    Exchange::JOB,
    Exchange::BEGUN,
    Exchange::RESULT,
    Exchange::REFUSED,
];

/// A place that several machines see.
#[derive(Debug)]
pub struct Exchange {
    objects: Objects,
}

impl Exchange {
    /// What is to be made.
    pub const JOB: &str = "job.json";
    /// Who makes it.
    pub const BEGUN: &str = "begun";
    /// What came of it.
    pub const RESULT: &str = "result";
    /// Why nothing did.
    pub const REFUSED: &str = "refused";

    /// In a folder, or at a URL.
    pub fn at(place: &str) -> Self {
        Self {
            objects: Objects::at(place),
        }
    }

    /// The exchange that a job is in, and the job's id.
    pub fn of_job(job: &str) -> Option<(Self, String)> {
        let (jobs, id) = job.trim_end_matches('/').rsplit_once('/')?;
        let place = jobs.strip_suffix(JOBS)?.strip_suffix('/')?;
        (!id.is_empty()).then(|| (Self::at(place), id.to_owned()))
    }

    /// Where the job `id` is, as other machines are told.
    pub fn job(&self, id: &str) -> String {
        self.objects.show(&format!("{JOBS}/{id}"))
    }

    /// Puts a file of a job there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, id: &str, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.objects.put(&format!("{JOBS}/{id}/{name}"), bytes)
    }

    /// A file of a job; `None` if it is not there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get(&self, id: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.objects.get(&format!("{JOBS}/{id}/{name}"))
    }

    /// Whether a file of a job is there, as far as can be seen.
    pub fn has(&self, id: &str, name: &str) -> bool {
        let has = self.objects.has(&format!("{JOBS}/{id}/{name}"));
        has.unwrap_or(false)
    }

    /// Takes a job away.
    pub fn remove(&self, id: &str) {
        for name in FILES {
            self.objects.remove(&format!("{JOBS}/{id}/{name}"));
        }
        // Of folders only: objects have none.
        let _ = fs::remove_dir(self.job(id));
    }

    /// Puts a blob there, unless it is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put_blob(&self, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.objects.put_new(&blob(sha256), bytes)
    }

    /// The same of a file's content.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn put_file(&self, sha256: &str, from: &Path) -> Result<(), StoreError> {
        self.objects.put_file(&blob(sha256), from)
    }

    /// A blob's bytes, which may be any; `None` if it is not there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn blob(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.objects.get(&blob(sha256))
    }

    /// Copies a blob into a file; whether it was there.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn blob_to(&self, sha256: &str, to: &Path) -> Result<bool, StoreError> {
        self.objects.get_file(&blob(sha256), to)
    }
}

fn blob(sha256: &str) -> String {
    format!("{BLOBS}/{}/{sha256}", sha256.get(..2).unwrap_or("00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_found_by_where_it_is() {
        for (place, job) in [
            ("/shared/store", "/shared/store/jobs/ab-1"),
            ("s3://bucket/team", "s3://bucket/team/jobs/ab-1"),
        ] {
            let exchange = Exchange::at(place);
            assert_eq!(exchange.job("ab-1"), job);
            let (found, id) = Exchange::of_job(job).unwrap();
            assert_eq!((found.job("x"), id.as_str()), (exchange.job("x"), "ab-1"));
        }
        for not_one in ["", "jobs/x", "/shared/other/ab-1", "/shared/jobs/"] {
            assert!(Exchange::of_job(not_one).is_none(), "{not_one}");
        }
    }

    #[test]
    fn blobs_are_written_once_and_jobs_go_whole() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = Exchange::at(dir.path().to_str().unwrap());
        exchange.put_blob("abc", b"one").unwrap();
        exchange.put_blob("abc", b"two").unwrap();
        assert_eq!(exchange.blob("abc").unwrap().unwrap(), b"one");
        exchange.put("j", Exchange::JOB, b"{}").unwrap();
        assert_eq!(exchange.get("j", Exchange::JOB).unwrap().unwrap(), b"{}");
        assert!(!exchange.has("j", Exchange::BEGUN));
        exchange.remove("j");
        assert!(!Path::new(&exchange.job("j")).exists());
    }
}
